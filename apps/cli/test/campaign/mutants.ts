/** Disables one mechanism; the campaign must detect it. */
export interface Mutant {
  /** Matches the built code, where only identifiers differ. */
  readonly find: RegExp;
  readonly put: string;
}

const stopped = (name: string, at: number) =>
  `(globalThis.${name}=(globalThis.${name}??0)+1)===${at}&&process.kill(process.pid,"SIGSTOP")`;

/**
 * Stops a host before its change with this number, so that it makes the change after the next host has taken
 * over the session.
 */
export const stops: Readonly<Record<string, (at: number) => Mutant>> = {
  /** Any change to a session or its project. */
  change: (at) => ({
    find: /(async#\w+\(\w+,\w+,\w+\)\{)(?=let \w+=`\$\{\w+\}\/lock`;)/,
    put: `$1${stopped("tauChanges", at)};`,
  }),
  /** A file of the project. */
  file: (at) => ({
    find: /(write\((\w+),\w+,(\w+)=\{\}\)\{)(?=return this\.#\w+\(\w+,\w+,async\(\)=>\{)/,
    put: `$1$3.session!==undefined&&!$2.includes("/.cache/tau/")&&${stopped("tauFiles", at)};`,
  }),
  /** The merge of isolated subagents' work into the folder. */
  merge: (at) => ({
    find: /(mergeChanges:\(\w+,\w+\)=>)(\w+\(\w+,\w+,\w+\))/,
    put: `$1(${stopped("tauMerges", at)},$2)`,
  }),
  /** The restoration of files that a command has changed. */
  restore: (at) => ({
    find: /await (\w+)\((?=\{(?:\.\.\.\{)?folder:this\.#\w+\.folder,store:\w+,current:)/,
    put: `await (${stopped("tauRestores", at)},$1)(`,
  }),
};

export const mutants: Readonly<Record<string, Mutant>> = {
  /** Does not record the start of a call. */
  intent: {
    find: /(\{toolCallId:\w+\.id,epoch:\w+,\.\.\.\w+\});\w+\.append\(\{type:"custom",customType:\w+,data:\w+\}\)/,
    put: "$1;0",
  },
  /** Lets a host continue after it has lost its session. */
  epoch: { find: /if\(!\(\w+>=\w+\)\)throw new \w+\("stale_epoch"\);/, put: "" },
  /** Does not adopt a command that is still running. */
  adoption: {
    find: /(onOutput:(\w+),signal:\w+\};)return await \w+\.adopt\(\w+\)/,
    put: `$1$2(Buffer.from("lost"),"stdout");return{write(){},endInput(){},kill(){},done:Promise.resolve({exitCode:0})}`,
  },
  /** Leaves files as an interrupted call left them. */
  restore: { find: /\[\.\.\.\w+\.files\.entries\(\)\]\.reverse\(\)/, put: "[]" },
  /** Leaves the folder as an interrupted command left it. */
  folder: { find: /\w+\.snapshot!==void 0&&/, put: "false&&" },
};
