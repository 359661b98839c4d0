import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const completion = defineSubcommand({
  name: "completion",
  summary: "Print a script that completes tau's command line in a shell",
  usage: ["bash|zsh|fish"],
  actions: {
    bash: 'eval "$(tau completion bash)" in ~/.bashrc',
    zsh: 'eval "$(tau completion zsh)" in ~/.zshrc, after compinit',
    fish: "tau completion fish > ~/.config/fish/completions/tau.fish",
  },
  options: {},
  maxWords: 0,
  run: async ({ action }, { commands, print }) => {
    const { completionScript } = await import("../command-line/completion-script.ts");
    print(completionScript(action as "bash" | "zsh" | "fish", commands));
    return 0;
  },
});
