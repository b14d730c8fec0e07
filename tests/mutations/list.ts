/** A defect that this project had, brought back by one edit of today's code. */
export interface Mutation {
  name: string
  /** The commit that fixed the defect, or that closed the gap before a release. */
  fixedBy: string
  file: string
  /** A text that the file has exactly once. */
  find: string
  replace: string
}

/** The worst defects in the history of the project, by what users, operators or attackers would have made of them. */
export const mutations: Mutation[] = [
  {
    name: 'behind a proxy with basic authentication nobody can log in to the web client',
    fixedBy: '6a8226b',
    file: 'packages/server/src/http/authenticate.ts',
    find: 'authorization !== undefined && /^Bearer\\b/i.test(authorization)',
    replace: 'authorization !== undefined',
  },
  {
    name: 'a thief who refreshes a token at the moment of a password change keeps the session',
    fixedBy: '0495428',
    file: 'packages/server/src/auth/auth-operations.ts',
    find: 'if (!current || isRevoked(credential, current))',
    replace: 'if (!current)',
  },
  {
    name: 'a removed member reads responses that were stored for retries',
    fixedBy: '0495428',
    file: 'packages/server/src/boards/member-steps.ts',
    find: 'await Promise.all([deleteMember(db, key), deleteStoredResponses(db, key)])',
    replace: 'await deleteMember(db, key)',
  },
  {
    name: 'pipelined requests of one connection take all slots',
    fixedBy: '82922ff',
    file: 'packages/server/src/http/server.ts',
    find: 'if (open > MAX_PIPELINED) return void socket.destroy()\n',
    replace: '',
  },
  {
    name: 'an upgrade at an invalid URL ends the process',
    fixedBy: 'bed6ff1',
    file: 'packages/server/src/realtime/socket-server.ts',
    find: "URL.parse(request.url ?? '/', 'http://host')",
    replace: "new URL(request.url ?? '/', 'http://host')",
  },
  {
    name: 'one request for a log of large events takes all memory',
    fixedBy: '0495428',
    file: 'packages/server/src/realtime/realtime-queries.ts',
    find: 'const PAGE_BYTES = 1_048_576',
    replace: 'const PAGE_BYTES = Number.MAX_SAFE_INTEGER',
  },
  {
    name: 'a file of a board runs as a script of our origin',
    fixedBy: '0495428',
    file: 'packages/server/src/http/files/download.ts',
    find: "if (!destinations.has(destination) && !isRasterImage) throw new Problem('download_only')",
    replace: '',
  },
  {
    name: 'without Redis passwords can be guessed without a limit',
    fixedBy: '0495428',
    file: 'packages/server/src/security/rate-limits.ts',
    find: "failed_login: { seconds: 900, storage: 'fallback' }",
    replace: "failed_login: { seconds: 900, storage: 'shared' }",
  },
  {
    name: 'requests at the same moment exceed the quota of boards',
    fixedBy: '0495428',
    file: 'packages/server/src/core/quotas.ts',
    find: 'await Promise.all([tx.run(lockUser, { user_id }), tx.run(countCreated, { user_id })])',
    replace: '[undefined, await tx.run(countCreated, { user_id })]',
  },
  {
    name: 'cards that are restored one by one come back in another order',
    fixedBy: 'bda6306',
    file: 'packages/server/src/removals/removal-operations.ts',
    find: 'former?.isTaken === false\n      ? keepRank(removal)\n      : await findCardRank',
    replace: 'former === null\n      ? keepRank(removal)\n      : await findCardRank',
  },
  {
    name: 'the name of an erased user remains in comments with many mentions',
    fixedBy: '9d4bdbc',
    file: 'packages/contract/src/comments.ts',
    find: "...new Set([...text.matchAll(mention)].map(([, id = '']) => id.toLowerCase())),",
    replace:
      "...[...new Set([...text.matchAll(mention)].map(([, id = '']) => id.toLowerCase()))].slice(0, MAX_MENTIONS),",
  },
  {
    name: 'after a crash of PostgreSQL two instances send the events of a webhook',
    fixedBy: '4e79d5e',
    file: 'packages/server/src/webhooks/dispatch-queries.ts',
    find: 'sql`greatest(hook.fence + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`',
    replace: 'sql`hook.fence + 1`',
  },
  {
    name: 'an owner who was removed while they sent a request still changes a webhook',
    fixedBy: '9d6f1b0',
    file: 'packages/server/src/webhooks/webhook-steps.ts',
    find: 'await authorize(tx)\n      return work(tx)',
    replace: 'return work(tx)',
  },
  {
    name: 'a webhook reaches the metadata service of the cloud',
    fixedBy: 'f90c6e9',
    file: 'packages/server/src/platform/networks.ts',
    find: "  '169.254.0.0/16',\n",
    replace: '',
  },
  {
    name: 'sslmode=require accepts any certificate of PostgreSQL',
    fixedBy: '6fe7e89',
    file: 'packages/server/src/database/connection.ts',
    find: 'rejectUnauthorized: true,',
    replace: "rejectUnauthorized: mode !== 'require',",
  },
  {
    name: 'cached boards hold many times the memory that is counted',
    fixedBy: '500cb65',
    file: 'packages/server/src/boards/board-cache.ts',
    find: 'Buffer.allocUnsafeSlow(',
    replace: 'Buffer.allocUnsafe(',
  },
  {
    name: 'a migration in batches leaves out rows that were locked meanwhile',
    fixedBy: '6284148',
    file: 'packages/server/src/database/migrations/run-migration.ts',
    find: 'const { rowCount } = await client.query(parts.left)\n    if (rowCount === 0) break',
    replace: 'break',
  },
  {
    name: 'a board that is opened again while its channel is closed hears nothing',
    fixedBy: 'c8d6063',
    file: 'packages/server/src/realtime/bus.ts',
    find: 'this.subscriber.sUnsubscribe(channel, this.onMessage)',
    replace: 'this.subscriber.sUnsubscribe(channel)',
  },
  {
    name: 'a connection to Redis that died silently is never replaced',
    fixedBy: 'c8d6063',
    file: 'packages/server/src/realtime/bus.ts',
    find: 'if (now - lastCanaryAt > RECONNECT_AFTER_MS && now - this.reconnectedAt > RECONNECT_AFTER_MS) this.reconnect(now)',
    replace: '',
  },
  {
    name: 'the first ping of a socket comes at any moment, instead of its events',
    fixedBy: '7156aee',
    file: 'packages/server/src/realtime/heartbeat.ts',
    find: 'this.pingSlotAt(-1).add(connection)',
    replace: 'this.pingSlotAt(Number.parseInt(connection.board_id.slice(-6), 16) - this.ticks).add(connection)',
  },
  {
    name: 'changes that were queued on a newer board than the stored one are lost',
    fixedBy: '8653eea',
    file: 'packages/client/src/live/core.ts',
    find: 'attempts === 0 && !isShared && !isBefore(this.position, base)',
    replace: 'attempts === 0 && !isShared',
  },
  {
    name: 'the wheel over a card does not scroll the board sideways',
    fixedBy: 'ed46faa',
    file: 'packages/web/src/board/board.css',
    find: 'overscroll-behavior: auto contain;',
    replace: 'overscroll-behavior: contain;',
  },
  {
    name: 'boards stay readable in the browser after a logout',
    fixedBy: 'c405373',
    file: 'packages/web/src/offline-cache.ts',
    find: 'if (isSupported()) await caches.delete(DATA)',
    replace: 'if (isSupported()) await (await caches.open(DATA)).delete(ME)',
  },
  {
    name: 'a tab that did not hear of a logout sends changes in the name of the next user',
    fixedBy: 'c405373',
    file: 'packages/web/src/session.ts',
    find: "if (operation === 'logout' || isLoggedIn()) return\n",
    replace: "if (operation !== '') return\n",
  },
  {
    name: 'changes that wait are sent after the sessions were ended',
    fixedBy: 'd7a1995',
    file: 'packages/web/src/board-state/change-queue.ts',
    find: 'readLogin() ?? loginOfPage() ?? {}',
    replace: 'readLogin() ?? { sessions_ended_at: null }',
  },
]
