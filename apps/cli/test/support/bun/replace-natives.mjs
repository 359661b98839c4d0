// Preloaded by bun: replaces what the clients of oh-my-pi import from its native addon of 350 MB with plain code.
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
