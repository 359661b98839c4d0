export interface RepositoryFields {
  readonly homepage: string;
  readonly bugs: { readonly url: string };
  readonly repository: {
    readonly type: "git";
    readonly url: string;
    readonly directory: string;
  };
}

/** The address of the repository; undefined while `repository.url` in the root's package.json is empty. */
export function repositoryUrl(manifest: Readonly<Record<string, unknown>>): string | undefined {
  const { repository } = manifest as { repository?: { url?: string } };
  const url = repository?.url?.trim().replace(/\/$/, "");
  if (!url) return undefined;
  if (/^https:\/\/[^/\s]+\/\S+[^/\s]$/.test(url)) return url;
  throw new Error(
    `repository.url in package.json is ${JSON.stringify(url)}; give the address of the repository's page, such as https://host/owner/name.`,
  );
}

/** The fields for the package in `folder` of the repository at `url`, in npm's normalised form. */
export function repositoryFields(url: string, folder: string): RepositoryFields {
  const page = url.replace(/\.git$/, "");
  return {
    homepage: `${page}/tree/main/${folder}#readme`,
    bugs: { url: `${page}/issues` },
    repository: { type: "git", url: `git+${page}.git`, directory: folder },
  };
}

/** The manifest with these fields after its description, or without any. */
export function withRepository(
  manifest: Readonly<Record<string, unknown>>,
  fields: RepositoryFields | undefined,
): Record<string, unknown> {
  const { repository: _, homepage: __, bugs: ___, ...rest } = manifest;
  const members = Object.entries(rest);
  const place = members.findIndex(([name]) => name === "license");
  return Object.fromEntries([
    ...members.slice(0, place),
    ...Object.entries(fields ?? {}),
    ...members.slice(place),
  ]);
}
