/** What is fetched, and within which limits. */
export interface ForeignRequest {
  readonly url: string;
  /** `http:` and `https:`, as `URL` has them. */
  readonly schemes: readonly string[];
  readonly accept: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Why a host must not be visited, as a clause; asked before each request, also after redirects. */
  readonly refusalOf?:
    | ((target: URL) => string | undefined | Promise<string | undefined>)
    | undefined;
}

/** What came back, redirects followed. */
export interface ForeignReply {
  readonly url: string;
  readonly status: number;
  /** The header as it is; empty where there is none. */
  readonly contentType: string;
  readonly body: Buffer;
}

/** Fetches one address; the only way to addresses that models and clients name. */
export type FetchForeign = (request: ForeignRequest) => Promise<ForeignReply>;

/** How tools reach addresses that the model names. */
export interface WebAccess {
  readonly fetch: FetchForeign;
  /**
   * Why a host must not be visited, as a clause: by the sandbox, and by the permissions where no call names it.
   */
  readonly refusalOf: (target: URL, isNamed: boolean) => Promise<string | undefined>;
}
