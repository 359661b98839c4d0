import type { Environment } from "@tau-agent/system";

/** How a cloud's own credentials are found, in addition to keys. */
interface CloudCredentials {
  /** Groups of variables, each of which is sufficient; a group may name alternatives. */
  readonly groups: readonly (readonly (string | readonly string[])[])[];
  /** Whether requests may find credentials in places that no variable names, such as the machine's own role. */
  readonly mayBeElsewhere: boolean;
  readonly hint: string;
}

const project = ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"];

const clouds: Readonly<Record<string, CloudCredentials>> = {
  "amazon-bedrock": {
    groups: [
      ["AWS_PROFILE"],
      ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
      ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
      ["AWS_CONTAINER_CREDENTIALS_FULL_URI"],
      ["AWS_WEB_IDENTITY_TOKEN_FILE"],
    ],
    mayBeElsewhere: true,
    hint: "AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  },
  "google-vertex": {
    groups: [[project, "GOOGLE_CLOUD_LOCATION"]],
    mayBeElsewhere: false,
    hint: "GOOGLE_CLOUD_API_KEY, or GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION for application default credentials",
  },
};

function cloudOf(provider: string): CloudCredentials | undefined {
  return Object.hasOwn(clouds, provider) ? clouds[provider] : undefined;
}

export function isCloud(provider: string): boolean {
  return cloudOf(provider) !== undefined;
}

export function namesCloudCredentials(provider: string, environment: Environment): boolean {
  const isSet = (name: string) => (environment[name]?.trim() ?? "") !== "";
  return (cloudOf(provider)?.groups ?? []).some((group) =>
    group.every((names) => (typeof names === "string" ? isSet(names) : names.some(isSet))),
  );
}

/** Whether a request without a key may find credentials for the provider's cloud. */
export function mayHaveCloudCredentials(provider: string, environment: Environment): boolean {
  return cloudOf(provider)?.mayBeElsewhere === true || namesCloudCredentials(provider, environment);
}

export function cloudHint(provider: string): string | undefined {
  return cloudOf(provider)?.hint;
}
