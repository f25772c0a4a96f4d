import { type Access, inRegion } from "../acl/access.ts";
import { ConnectionCut, type Fault } from "../faults.ts";
import { Refusal } from "../refusal.ts";
import { answerOf, refusalOf } from "./answer.ts";
import type { ApiRequest, ApiResponse, Call } from "./message.ts";
import { route } from "./router.ts";
import type { Service } from "./service.ts";

/** Tells who sends a request. Throws Refusal (403) for a token that nobody has. */
export type Authenticate = (request: ApiRequest) => Access;

/** A call of a request to a server of `region`. Throws Refusal (403). */
export function callOf(request: ApiRequest, authenticate: Authenticate, region: string): Call {
  const local = authenticate(request);
  const access = inRegion(request.query.get("region") || region, region, local);
  return { request, access, local, namespace: request.query.get("namespace") || "default" };
}

/** One exchange, faults included. Throws ConnectionCut when there is to be no answer. */
export async function exchange(service: Service, request: ApiRequest, authenticate: Authenticate): Promise<ApiResponse> {
  const fault = service.faults.strike(request.method, request.path);
  if (fault?.kind === "drop_before") throw new ConnectionCut("the request was lost");
  if (fault?.kind === "status") return faultAnswer(fault);
  const response = await handle(service, request, authenticate);
  if (fault === undefined) return response;
  if (fault.kind === "drop_after") throw new ConnectionCut("the answer was lost");
  if (fault.kind === "status_after") return faultAnswer(fault);
  if (fault.kind === "truncate") return { ...response, body: response.body.slice(0, Math.floor(response.body.length / 2)) };
  await service.faults.wait(fault);
  return response;
}

function faultAnswer(fault: Fault): ApiResponse {
  const status = fault.status ?? 500;
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: fault.text ?? defaultText(status) };
}

/** The texts that real servers and proxies send with these. */
function defaultText(status: number): string {
  if (status === 429) return "Your IP is issuing too many concurrent connections, please rate limit your calls";
  if (status === 500) return "No cluster leader";
  if (status === 502) return "Bad Gateway";
  if (status === 503) return "Service Unavailable";
  return "Gateway Timeout";
}

async function handle(service: Service, request: ApiRequest, authenticate: Authenticate): Promise<ApiResponse> {
  try {
    const found = route(service, request.path);
    if (found === undefined) throw new Refusal(404, "");
    const reply = await found.handler(callOf(request, authenticate, service.region), found.params);
    return answerOf(reply, request.query.has("pretty") && request.query.get("pretty") !== "0");
  } catch (error) {
    if (error instanceof Refusal) return refusalOf(error);
    return answerOf({ status: 500, text: error instanceof Error ? error.message : String(error) }, false);
  }
}
