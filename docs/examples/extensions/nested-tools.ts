// A tool that runs other tools: it reads several files at once.
import { Type } from "@sinclair/typebox";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function nestedTools(pi: ExtensionApi): void {
  pi.registerTool({
    name: "read_all",
    description: "Reads several files.",
    parameters: Type.Object({ paths: Type.Array(Type.String()) }),
    async execute(_id, { paths }: { paths: string[] }, signal, _onUpdate, { executeTool }) {
      const read = paths.map((path) => executeTool("read", { path }, { signal }));
      const outcomes = await Promise.all(read);
      return { content: outcomes.flatMap(({ result }) => result.content) };
    },
  });
}
