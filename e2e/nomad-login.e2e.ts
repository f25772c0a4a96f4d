/** Logins by a real Nomad's tokens: what the simulator says about them must be what a server says. */
import { expect, it } from "vitest";
import { askNomadOver } from "../cmd/login/nomad-person.ts";
import { systemClock, systemRandom } from "../cmd/system-clock.ts";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { nomadLoginConformance } from "../testkit/suites/nomad-login.suite.ts";

const binary = await findNomad();

if (binary === undefined) {
  it("announces that no real Nomad was asked: there is none on PATH", () => {
    console.warn("logins: no `nomad` on PATH; only the simulator was asked");
    expect(binary).toBeUndefined();
  });
} else {
  nomadLoginConformance("a real Nomad", () => startRealNomad(binary, { acl: true }));

  it("a real Nomad without ACLs takes any text for a token (S28)", async () => {
    const nomad = await startRealNomad(binary);
    try {
      const ask = askNomadOver({ address: nomad.address, clock: systemClock, random: systemRandom });
      expect(await ask("11111111-2222-3333-4444-555555555555")).toBe("acls_off");
    } finally {
      await nomad.stop();
    }
  });
}
