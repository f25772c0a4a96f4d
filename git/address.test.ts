import { describe, expect, it } from "vitest";
import { guardedLookup, isRefusedAddress, refusedAddressCode } from "./address.ts";

describe("isRefusedAddress", () => {
  it.each([
    "169.254.169.254",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "100.100.100.200",
    "::",
    "[fe80::1]",
    "ff02::1",
    "::ffff:169.254.1.1",
  ])("refuses %s", (address) => {
    expect(isRefusedAddress(address)).toBe(true);
  });

  it.each(["127.0.0.1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "::1", "fd00::1", "2001:db8::1", "git.example.com"])(
    "allows %s",
    (address) => {
      expect(isRefusedAddress(address)).toBe(false);
    },
  );
});

describe("guardedLookup", () => {
  function look(host: string, all: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      guardedLookup(host, { all }, (error, address) => (error ? reject(error) : resolve(address)));
    });
  }

  it("resolves allowed names and addresses in both forms", async () => {
    expect(await look("127.0.0.1", false)).toBe("127.0.0.1");
    expect(await look("127.0.0.1", true)).toEqual([{ address: "127.0.0.1", family: 4 }]);
  });

  it("fails for a name that leads to a refused address", async () => {
    await expect(look("169.254.169.254", false)).rejects.toMatchObject({ code: refusedAddressCode });
  });
});
