/** One mechanism less: the campaign has to notice. */
export interface Mutant {
  /** In what the build made of it, where only names differ. */
  readonly find: RegExp;
  readonly put: string;
}

const stopped = (name: string, at: number) =>
  `(globalThis.${name}=(globalThis.${name}??0)+1)===${at}&&process.kill(process.pid,"SIGSTOP")`;

/** Where a host stops before its change of this number, so that it makes it when the next one has the session. */
export const stops: Readonly<Record<string, (at: number) => Mutant>> = {
  /** Any change for a session. */
  change: (at) => ({
    find: /(async#\w+\(\w+,\w+,\w+\)\{)(?=let \w+=`\$\{\w+\}\/lock`;)/,
    put: `$1${stopped("tauChanges", at)};`,
  }),
  /** A file of the project. */
  file: (at) => ({
    find: /(write\((\w+),\w+,(\w+)=\{\}\)\{)(?=return this\.#\w+\(\w+,\w+,async\(\)=>\{)/,
    put: `$1$3.session!==undefined&&!$2.includes("/.cache/tau/")&&${stopped("tauFiles", at)};`,
  }),
  /** The work of isolated subagents comes into the folder. */
  merge: (at) => ({
    find: /(mergeChanges:\(\w+,\w+\)=>)(\w+\(\w+,\w+,\w+\))/,
    put: `$1(${stopped("tauMerges", at)},$2)`,
  }),
  /** What a command has changed in the folder is taken back. */
  restore: (at) => ({
    find: /await (\w+)\((?=\{(?:\.\.\.\{)?folder:this\.#\w+\.folder,store:\w+,current:)/,
    put: `await (${stopped("tauRestores", at)},$1)(`,
  }),
};

export const mutants: Readonly<Record<string, Mutant>> = {
  /** No call says that it starts. */
  intent: {
    find: /(\{toolCallId:\w+\.id,epoch:\w+,\.\.\.\w+\});\w+\.append\(\{type:"custom",customType:\w+,data:\w+\}\)/,
    put: "$1;0",
  },
  /** A host that lost its session goes on. */
  epoch: { find: /if\(!\(\w+>=\w+\)\)throw new \w+\("stale_epoch"\);/, put: "" },
  /** Nobody goes on with a command that still runs. */
  adoption: {
    find: /(onOutput:(\w+),signal:\w+\};)return await \w+\.adopt\(\w+\)/,
    put: `$1$2(Buffer.from("lost"),"stdout");return{write(){},endInput(){},kill(){},done:Promise.resolve({exitCode:0})}`,
  },
  /** Files stay as an interrupted call has left them. */
  restore: { find: /\[\.\.\.\w+\.files\.entries\(\)\]\.reverse\(\)/, put: "[]" },
  /** The folder stays as an interrupted command has left it. */
  folder: { find: /\w+\.snapshot!==void 0&&/, put: "false&&" },
};
