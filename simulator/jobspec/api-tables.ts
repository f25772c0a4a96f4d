import { readTables, type Table, tableOf } from "./schema.ts";
import { API_JOB_TABLES } from "./schema-api.ts";
import { API_SERVICE_TABLES } from "./schema-api-service.ts";
import { SERVER_JOB_TABLES } from "./schema-server.ts";
import { SERVER_SERVICE_TABLES } from "./schema-server-service.ts";

const API = readTables({ ...API_JOB_TABLES, ...API_SERVICE_TABLES });
const SERVER = readTables({ ...SERVER_JOB_TABLES, ...SERVER_SERVICE_TABLES });

/** A table of the client's form. */
export function apiTable(name: string): Table {
  return tableOf(API, name);
}

/** A table of the server's form. */
export function serverTable(name: string): Table {
  return tableOf(SERVER, name);
}
