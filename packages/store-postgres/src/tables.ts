/**
 * The statements that create the tables of a schema. Keys are hashes, because an index accepts no
 * long texts; names and entries are JSON in `text`, which unlike `jsonb` preserves everything.
 */
export function tableStatements(schema: string): string[] {
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    // `expires_at` is null while there is no lease, `modified_at` while there are no entries.
    `CREATE TABLE IF NOT EXISTS ${schema}.logs (
      key bytea PRIMARY KEY,
      session bytea NOT NULL,
      project bytea NOT NULL,
      name text NOT NULL,
      is_part boolean NOT NULL,
      token bigint NOT NULL DEFAULT 0,
      owner text,
      expires_at timestamptz,
      ttl_ms float8,
      modified_at timestamptz,
      length bigint NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX IF NOT EXISTS logs_session ON ${schema}.logs (session)`,
    `CREATE INDEX IF NOT EXISTS logs_project ON ${schema}.logs (project)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.entries (
      key bytea NOT NULL,
      position bigint NOT NULL,
      id bytea,
      body text NOT NULL,
      PRIMARY KEY (key, position)
    )`,
    `CREATE UNIQUE INDEX IF NOT EXISTS entries_id ON ${schema}.entries (key, id)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.blobs (
      key bytea NOT NULL,
      id text NOT NULL,
      session bytea NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (key, id)
    )`,
    `CREATE INDEX IF NOT EXISTS blobs_session ON ${schema}.blobs (session)`,
  ];
}

export function statements(schema: string) {
  const now = "clock_timestamp()";
  const later = (parameter: string) => `${now} + ${parameter} * interval '1 millisecond'`;
  const ms = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`;
  return {
    acquire: `INSERT INTO ${schema}.logs AS held
        (key, session, project, name, is_part, owner, token, expires_at, ttl_ms)
      VALUES ($1, $2, $3, $4, $5, $6, 1, ${later("$7::float8")}, $7::float8)
      ON CONFLICT (key) DO UPDATE
        SET token = held.token + 1, owner = $6, expires_at = ${later("$7::float8")},
          ttl_ms = $7::float8
        WHERE held.expires_at IS NULL OR held.expires_at <= ${now}
      RETURNING token, ${ms("expires_at")} AS expires`,
    renew: `UPDATE ${schema}.logs SET expires_at = ${later("$3::float8")}, ttl_ms = $3::float8
      WHERE key = $1 AND token = $2 AND expires_at IS NOT NULL
      RETURNING ${ms("expires_at")} AS expires`,
    /** key: a lease with more time left than was granted is from before the clock was set back. */
    shorten: `UPDATE ${schema}.logs SET expires_at = ${later("ttl_ms")}
      WHERE key = $1 AND expires_at > ${later("ttl_ms")}`,
    release: `UPDATE ${schema}.logs SET expires_at = NULL, owner = NULL WHERE key = $1 AND token = $2`,
    /** key, token, ids, bodies: locks the row of the log before adding an entry. */
    append: `WITH fence AS (
        UPDATE ${schema}.logs
        SET length = length + cardinality($4::text[]),
          modified_at = CASE WHEN cardinality($4::text[]) > 0 THEN ${now} ELSE modified_at END
        WHERE key = $1 AND token = $2 AND expires_at IS NOT NULL
        RETURNING length - cardinality($4::text[]) AS begin
      ), added AS (
        INSERT INTO ${schema}.entries (key, position, id, body)
        SELECT $1, fence.begin + entry.at, entry.id, entry.body
        FROM fence, unnest($3::bytea[], $4::text[]) WITH ORDINALITY AS entry (id, body, at)
        ORDER BY entry.at
        ON CONFLICT (key, id) DO NOTHING
      )
      SELECT count(*)::int AS fences FROM fence`,
    load: `SELECT body FROM ${schema}.entries WHERE key = $1 ORDER BY position`,
    list: `SELECT name, ${ms("modified_at")} AS modified FROM ${schema}.logs
      WHERE project = $1 AND NOT is_part AND modified_at IS NOT NULL`,
    /** key, token: locks the log, and returns whether another host holds the lease. */
    lock: `SELECT expires_at > ${now} AND token IS DISTINCT FROM $2::bigint AS is_held
      FROM ${schema}.logs WHERE key = $1 FOR UPDATE`,
    /** The column for the key or the session; its value. Locks the rows whose leases it ends. */
    end: (column: string) => `UPDATE ${schema}.logs
      SET expires_at = NULL, owner = NULL, modified_at = NULL WHERE ${column} = $1`,
    removeEntries: (column: string) => `DELETE FROM ${schema}.entries
      WHERE key IN (SELECT key FROM ${schema}.logs WHERE ${column} = $1)`,
    removeBlobs: (column: string) => `DELETE FROM ${schema}.blobs WHERE ${column} = $1`,
    /** key, id, session, bytes */
    putBlob: `INSERT INTO ${schema}.blobs (key, id, session, bytes) VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING`,
    getBlob: `SELECT bytes FROM ${schema}.blobs WHERE key = $1 AND id = $2`,
  };
}
