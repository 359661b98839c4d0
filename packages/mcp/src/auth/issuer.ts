import type { OAuthServerInfo } from "@modelcontextprotocol/client";

/** What an authorization server has given out; other hosts do not note which one it was. */
interface Issued {
  readonly issuer?: string | undefined;
}

export function issuerOf({
  authorizationServerMetadata,
  authorizationServerUrl,
}: OAuthServerInfo): string {
  return authorizationServerMetadata?.issuer ?? String(authorizationServerUrl);
}

/** Whether it is known that another authorization server has given it out. */
export function isOfAnother({ issuer }: Issued, expected: string): boolean {
  return issuer !== undefined && withoutSlash(issuer) !== withoutSlash(expected);
}

/** The same, noted as of this authorization server; undefined if it is another one's. */
export function boundTo<Value extends Issued>(
  issued: Value | undefined,
  issuer: string | undefined,
): Value | undefined {
  if (issued === undefined || issuer === undefined) return issued;
  return isOfAnother(issued, issuer) ? undefined : { ...issued, issuer: issued.issuer ?? issuer };
}

/** An address without a path is written in both ways. */
function withoutSlash(issuer: string): string {
  return issuer.endsWith("/") ? issuer.slice(0, -1) : issuer;
}
