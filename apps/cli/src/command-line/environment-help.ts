import { environmentKeys } from "@tau-agent/system";
import {
  addressVariables,
  type EnvironmentVariable,
  environmentVariables,
  variablesOfCommands,
} from "./environment-variables.ts";

export function environmentHelp(): string {
  const keys = Object.entries(environmentKeys).map(([provider, names]) => {
    return { name: names.join(", "), help: provider };
  });
  return [
    section("Environment variables", environmentVariables),
    section("Keys of providers, the strongest first", keys),
    section("Addresses of providers; baseUrl in models.json is stronger", addressVariables),
    section("Set for commands that the model runs", variablesOfCommands),
  ].join("\n");
}

function section(title: string, variables: readonly EnvironmentVariable[]): string {
  const width = Math.max(...variables.map(({ name }) => name.length)) + 2;
  const lines = variables.map(({ name, help }) => `  ${name.padEnd(width)}${help}`);
  return `${title}:\n${lines.join("\n")}\n`;
}
