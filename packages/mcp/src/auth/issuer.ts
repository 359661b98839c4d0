import type { OAuthServerInfo } from "@modelcontextprotocol/client";

/** Credentials issued by an authorization server; other hosts do not note which one. */
interface Issued {
  readonly issuer?: string | undefined;
}

export function issuerOf({
  authorizationServerMetadata,
  authorizationServerUrl,
}: OAuthServerInfo): string {
  return authorizationServerMetadata?.issuer ?? String(authorizationServerUrl);
}

/** Whether another authorization server is known to have issued it. */
export function isOfAnother({ issuer }: Issued, expected: string): boolean {
  return issuer !== undefined && withoutSlash(issuer) !== withoutSlash(expected);
}

/** The same credentials, marked as issued by this authorization server; undefined if they are another one's. */
export function boundTo<Value extends Issued>(
  issued: Value | undefined,
  issuer: string | undefined,
): Value | undefined {
  if (issued === undefined || issuer === undefined) return issued;
  return isOfAnother(issued, issuer) ? undefined : { ...issued, issuer: issued.issuer ?? issuer };
}

/** An address without a path may be written with or without a final slash. */
function withoutSlash(issuer: string): string {
  return issuer.endsWith("/") ? issuer.slice(0, -1) : issuer;
}
