import { askOver, type RawAnswer, type Request } from "./ask.ts";
import { Book } from "./book.ts";
import { type View, viewOf } from "./view.ts";

const mostPages = 60;

/** One of the servers that are compared. */
export class Side {
  readonly address: string;
  readonly book: Book;
  readonly #token: string | undefined;

  constructor(address: string, token: string | undefined) {
    this.address = address;
    this.#token = token;
    this.book = new Book((request) => this.raw(request), token !== undefined);
  }

  /** Asks as it stands; without a token of its own a request has that of the management. */
  async raw(request: Request): Promise<RawAnswer> {
    const headers = this.#token === undefined ? {} : { "x-nomad-token": this.#token };
    return await askOver(this.address, { ...request, headers: { ...headers, ...request.headers } });
  }

  async ask(request: Request): Promise<View> {
    const own = this.book.filled(request);
    const answer = await this.raw(own);
    return request.walk === true ? await this.#walk(own, answer) : viewOf(answer, own, this.book);
  }

  /** All pages of a list as one answer; their sizes are told by a header. */
  async #walk(request: Request, first: RawAnswer): Promise<View> {
    const rows: unknown[] = [];
    const sizes: number[] = [];
    let answer = first;
    while (answer.status === 200 && sizes.length < mostPages) {
      const page = (JSON.parse(answer.body) as unknown[] | null) ?? [];
      rows.push(...page);
      sizes.push(page.length);
      const next = answer.headers["x-nomad-nexttoken"];
      if (next === undefined) break;
      answer = await this.raw({ ...request, path: `${request.path}&next_token=${encodeURIComponent(next)}` });
    }
    const whole = answer.status === 200 ? { ...answer, body: JSON.stringify(rows) } : answer;
    const view = viewOf(whole, { ...request, unordered: true }, this.book);
    return { ...view, headers: { ...view.headers, pages: sizes.join(",") } };
  }
}
