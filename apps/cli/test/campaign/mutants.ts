/** One mechanism less: the campaign has to notice. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export const mutants: Readonly<Record<string, Mutant>> = {
  intent: {
    file: "durability/durable-calls.ts",
    find: 'log.append({ type: "custom", customType: TOOL_STARTED, data });',
    put: "void data;",
  },
  epoch: {
    file: "durability/epoch-guard.ts",
    find: "if (!(epoch >= highest)) throw",
    put: "if (epoch < 0) throw",
  },
  adoption: {
    file: "durability/owned-workspace.ts",
    find: "return await this.durable.adopt(options);",
    put: 'return await this.#inner.spawn({ ...options, commandId: undefined, command: "echo lost" });',
  },
  restore: {
    file: "durability/restore-call.ts",
    find: "for (const [index, file] of [...record.files.entries()].reverse()) {",
    put: "for (const [index, file] of [] as [number, (typeof record.files)[number]][]) {",
  },
  folder: {
    file: "durability/restore-call.ts",
    find: "if (record.snapshot !== undefined && restoreFolder !== undefined) {",
    put: 'if (record.snapshot === "" && restoreFolder !== undefined) {',
  },
};
