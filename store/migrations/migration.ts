/** One step of the schema. A published one is never edited: its hash is stored with the database (design D18). */
export interface Migration {
  /** 1, 2, 3 … without gaps. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}
