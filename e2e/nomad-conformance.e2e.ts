import { expect, it } from "vitest";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { nomadConformance } from "../testkit/suites/nomad.suite.ts";
import { nomadAclConformance } from "../testkit/suites/nomad-acl.suite.ts";

const address = process.env["NOMAD_ADDR_TEST"];
const binary = address === undefined ? await findNomad() : undefined;

if (address !== undefined) {
  // A server that is given stays as it is: nothing of it is stopped.
  nomadConformance(`the Nomad at ${address}`, async () => ({
    address,
    token: process.env["NOMAD_TOKEN_TEST"],
    stop: async () => {},
  }));
} else if (binary !== undefined) {
  nomadConformance("a real Nomad", () => startRealNomad(binary));
  nomadAclConformance("a real Nomad", () => startRealNomad(binary, { acl: true }), { login: true });
} else {
  it("announces that no real Nomad was asked: none on PATH, and NOMAD_ADDR_TEST is not set", () => {
    console.warn("conformance: no `nomad` on PATH and no NOMAD_ADDR_TEST; only the simulator was asked");
    expect(binary).toBeUndefined();
  });
}
