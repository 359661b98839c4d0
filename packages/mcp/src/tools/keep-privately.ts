import { fileError, type OutputPlace, openOutput } from "@tau-agent/system";
import type { KeepData } from "./result-content.ts";

/** Keeps data on the machine where the tools act, in files with unguessable names that only the user can read. */
export function keepPrivately(place: OutputPlace): KeepData {
  return async (data, extension) => {
    const file = openOutput(place, { prefix: "tau-mcp", extension });
    void file.write(data);
    await file.close();
    if (file.failure !== undefined) throw fileError(file.failure, "write", file.path);
    return file.path;
  };
}

/** Notes the files of one result, for code that needs them without the text. */
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
