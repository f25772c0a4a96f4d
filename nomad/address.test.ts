import { describe, expect, it } from "vitest";
import { parseNomadAddress } from "./address.ts";

describe("address", () => {
  it.each([
    [
      "http://127.0.0.1:4646",
      { base: "http://127.0.0.1:4646", secure: false, socketPath: undefined, display: "http://127.0.0.1:4646", local: true },
    ],
    [
      "http://localhost:4646/",
      { base: "http://localhost:4646", secure: false, socketPath: undefined, display: "http://localhost:4646", local: true },
    ],
    [
      "https://nomad.example.com/prefix/",
      {
        base: "https://nomad.example.com/prefix",
        secure: true,
        socketPath: undefined,
        display: "https://nomad.example.com/prefix",
        local: false,
      },
    ],
    [
      "http://[::1]:4646",
      { base: "http://[::1]:4646", secure: false, socketPath: undefined, display: "http://[::1]:4646", local: true },
    ],
    [
      "unix:///secrets/api.sock",
      {
        base: "http://127.0.0.1",
        secure: false,
        socketPath: "/secrets/api.sock",
        display: "unix:///secrets/api.sock",
        local: true,
      },
    ],
    [
      "http+unix://%2Ftmp%2Fa%3Ab.sock",
      { base: "http://127.0.0.1", secure: false, socketPath: "/tmp/a:b.sock", display: "unix:///tmp/a:b.sock", local: true },
    ],
  ])("%s", (address, parts) => {
    expect(parseNomadAddress(address)).toEqual(parts);
  });

  it.each(["", "nomad:4646", "ftp://x", "https://u:canary@host", "http://h?token=canary", "http+unix://%E0%A4%A"])(
    "refuses %s without repeating it",
    (address) => {
      expect(() => parseNomadAddress(address)).toThrow(expect.objectContaining({ code: "bad_nomad_address" }));
      expect(() => parseNomadAddress(address)).not.toThrow(/canary/);
    },
  );
});
