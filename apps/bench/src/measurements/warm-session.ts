import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { Workspace } from "../workspace.ts";

/** The time from `open_session` on a warm host to the session's first answer, compared with a process start. */
export const warmSession: Measurement = {
  name: "warm-session",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const host = workspace.spawn(workspace.command(hostCommand, ["--sessions"]));
    const openSession = async (): Promise<number> => {
      const started = performance.now();
      const { sessionId } = (await host.request("open_session", { cwd: workspace.cwd })) as {
        readonly sessionId: string;
      };
      await host.request("get_state", { sessionId });
      const elapsed = performance.now() - started;
      await host.request("close_session", { sessionId });
      return elapsed;
    };
    const startProcess = async (): Promise<number> => {
      const started = performance.now();
      const child = workspace.spawn(workspace.command(hostCommand));
      await child.request("get_state");
      const elapsed = performance.now() - started;
      await child.stop();
      return elapsed;
    };
    for (let warmUp = 0; warmUp < 5; warmUp += 1) await openSession();
    const results = { host: [] as number[], floor: [] as number[] };
    for (let round = 0; round < (isQuick ? 5 : 20); round += 1) {
      results.floor.push(await startProcess());
      results.host.push(await openSession());
    }
    await host.stop();
    const what = { what: "open_session to its first get_state answer", unit: "ms" };
    const ratio = { ratioOf: "session / process, medians", by: "median", target: 0.1 } as const;
    return [comparedRow({ ...what, ...ratio }, results)];
  },
};
