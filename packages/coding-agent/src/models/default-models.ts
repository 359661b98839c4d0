/**
 * Default models of each provider, best first. Also the order in which providers with a key are
 * tried: makers of models before resellers.
 */
export const defaultModels: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"],
  openai: ["gpt-6.1-sol", "gpt-6-sol", "gpt-5.4", "gpt-5"],
  google: ["gemini-3.1-pro-preview", "gemini-pro-latest"],
  xai: ["grok-4.7", "grok-4.6"],
  deepseek: ["deepseek-v4-pro"],
  zai: ["glm-5.3"],
  moonshotai: ["kimi-k3.1-pro", "kimi-k3"],
  "moonshotai-cn": ["kimi-k3.1-pro", "kimi-k3"],
  "kimi-coding": ["kimi-for-coding"],
  minimax: ["MiniMax-M3"],
  "minimax-cn": ["MiniMax-M3"],
  meta: ["muse-spark-1.3"],
  xiaomi: ["mimo-v2.6-pro"],
  "qwen-token-plan": ["qwen3.8-max"],
  openrouter: ["anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-5", "openrouter/auto"],
  groq: ["openai/gpt-oss-120b"],
  cerebras: ["gpt-oss-120b"],
  fireworks: ["accounts/fireworks/routers/kimi-latest"],
  together: ["moonshotai/Kimi-K3.1-Pro", "moonshotai/Kimi-K3"],
  baseten: ["moonshotai/Kimi-K3.1-Pro", "moonshotai/Kimi-K3"],
  nvidia: ["nvidia/nemotron-3-ultra-550b-a55b"],
  huggingface: ["zai-org/GLM-5.3"],
};
