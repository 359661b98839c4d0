import { fileError, type OutputPlace, openOutput } from "@tau-agent/system";
import type { KeepData } from "./result-content.ts";

/** Keeps data where the tools act, in files that only the user can read, with names that nobody can guess. */
export function keepPrivately(place: OutputPlace): KeepData {
  return async (data, extension) => {
    const file = openOutput(place, { prefix: "tau-mcp", extension });
    void file.write(data);
    await file.close();
    if (file.failure !== undefined) throw fileError(file.failure, "write", file.path);
    return file.path;
  };
}

/** Notes the files of one result, for who needs them without its text. */
export function noting(keep: KeepData): {
  readonly keep: KeepData;
  readonly details: () => { readonly keptFiles?: readonly string[] };
} {
  const paths: string[] = [];
  return {
    keep: async (...data) => {
      const path = await keep(...data);
      paths.push(path);
      return path;
    },
    details: () => (paths.length === 0 ? {} : { keptFiles: paths }),
  };
}
