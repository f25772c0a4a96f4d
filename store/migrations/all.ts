import { lifecycle } from "./0001-lifecycle.ts";
import { detection } from "./0002-detection.ts";
import { delivery } from "./0003-delivery.ts";
import { login } from "./0004-login.ts";
import type { Migration } from "./migration.ts";

/** Every step of the schema in order. */
export const migrations: readonly Migration[] = [lifecycle, detection, delivery, login];
