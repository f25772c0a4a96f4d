import { hostname, platform, userInfo } from "node:os";

/** What `${host.…}` refers to in a workspace. */
export function hostFacts(): { readonly [name: string]: string | number } {
  const user = userInfo();
  return { uid: user.uid, gid: user.gid, user: user.username, name: hostname(), os: platform(), arch: process.arch };
}
