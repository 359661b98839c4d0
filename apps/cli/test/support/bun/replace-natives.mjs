// Preloaded by bun: what the clients of oh-my-pi import of its native addon, of 350 MB, in plain code.
const natives = {
  Process: {
    fromPid: (pid) => ({
      terminate: async () => {
        process.kill(pid, "SIGTERM");
      },
    }),
  },
  ProcessStatus: {},
  FileLock: {},
  renderMermaidAscii: undefined,
};

globalThis.Bun.plugin({
  name: "natives",
  setup: (build) =>
    build.module("@oh-my-pi/pi-natives", () => ({ exports: natives, loader: "object" })),
});
