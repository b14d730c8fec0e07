import { setImmediate as nextTurn } from 'node:timers/promises'
import { newAccount } from '@lockstep/testing/accounts'
import { seeded } from '@lockstep/testing/random'
import { checkResponse, type ResponseCheck } from './check-response.ts'
import { Connection } from './connection.ts'
import type { DocumentedOperation } from './document.ts'
import { dispatchOf } from './framing.ts'
import { type FuzzUser, KnownResources } from './known-resources.ts'
import { recordResponse } from './record-response.ts'
import { describe, type FuzzRequest, makeRequest, plainRequest } from './requests.ts'

export interface FuzzSize {
  seed: number
  requests: number
  /** Concurrent connections. */
  concurrency: number
  /** Sends only requests that match the document. */
  isValidOnly?: boolean
  /** Where webhooks are sent. */
  receiverUrl?: string
}
export interface FuzzResults {
  requests: number
  seconds: number
  /** Violations, with the request and its number. */
  violations: string[]
  /** Responses by status and problem code. */
  outcomes: Map<string, number>
  /** Calls and successes by operation. */
  operations: Map<string, { asked: number; succeeded: number }>
  /** The number of requests by mutation. */
  mutations: Map<string, number>
}

const PEOPLE = 6
/**
 * Operations that are called less often, one in this many times: hashing a password takes as long as a hundred other
 * requests, and deleted resources must be created first.
 */
const rarely: Record<string, number> = {
  register: 100,
  login: 100,
  changePassword: 30,
  logoutEverywhere: 50,
  deleteBoard: 20,
  createBoard: 10,
  removeMember: 5,
  updateMember: 5,
  archiveBoard: 40,
}
const oneIn = (operation: string) => rarely[operation] ?? (/^(?:delete|archive)/.test(operation) ? 4 : 1)
const SHOWN = 40

/** Calls every operation of a document with random valid and broken requests, and checks every response. */
export async function fuzz(
  baseUrl: string,
  operations: readonly DocumentedOperation[],
  { seed, requests, concurrency, isValidOnly = false, receiverUrl }: FuzzSize,
  progress: (done: number, violations: number) => void = () => {},
): Promise<FuzzResults> {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const found: FuzzResults = {
    requests: 0,
    seconds: 0,
    violations: [],
    outcomes: new Map(),
    operations: new Map(),
    mutations: new Map(),
  }
  const known = new KnownResources(receiverUrl)
  const startedAt = performance.now()

  const ask = async (connection: Connection, nth: number, request: FuzzRequest): Promise<ResponseCheck> => {
    const outcome = await connection.ask(dispatchOf(request))
    const verdict = checkResponse(request, outcome, operations)
    found.requests++
    count(found.outcomes, verdict.outcome)
    for (const mutation of request.mutations) count(found.mutations, mutation)
    const tally = found.operations.get(request.operation.id) ?? { asked: 0, succeeded: 0 }
    found.operations.set(request.operation.id, tally)
    tally.asked++
    // A mutated path or method calls another operation.
    const isItself = request.method === request.operation.method && !request.mutations.has('path')
    if (isItself && /^[23]/.test(verdict.outcome)) tally.succeeded++
    for (const complaint of verdict.violations) {
      if (found.violations.length < SHOWN)
        found.violations.push(
          `seed ${seed}, request ${nth}, ${request.operation.id}: ${complaint}\n    ${describe(request)}\n    ${bodyText(outcome)}`,
        )
      else found.violations.push(`request ${nth}, ${request.operation.id}: ${complaint}`)
    }
    if (typeof outcome === 'object') recordResponse(known, request, verdict, outcome.headers.get('etag'), seeded(nth))
    return verdict
  }

  /** A valid request for an operation, with these fields. */
  const call = async (
    connection: Connection,
    id: string,
    who: FuzzUser,
    params: Record<string, string>,
    fields?: object,
  ) => {
    const operation = byId.get(id)
    if (!operation) throw new Error(`There is no ${id} in the document`)
    const request = plainRequest(operation, who, params, fields)
    request.board = known.boards.find((board) => board.id === params['board_id'])
    return ask(connection, -1, request)
  }

  /** Creates a board with members and some resources. */
  const createBoard = async (connection: Connection, nth: number) => {
    const random = seeded(nth)
    const [owner, ...others] = random.shuffled(known.users) as [FuzzUser, ...FuzzUser[]]
    const { json } = await call(connection, 'createBoard', owner, {}, { title: 'Fuzz' })
    const board_id = String(json?.['id'])
    for (const { id: user_id } of others.slice(1))
      await call(connection, 'inviteMember', owner, { board_id }, { user_id })
    for (const title of ['One', 'Two', 'Three']) {
      const column = await call(connection, 'createColumn', owner, { board_id }, { title })
      await call(connection, 'createCard', owner, { board_id, column_id: String(column.json?.['id']) }, { title })
    }
    const idOf = (parameter: string) => known.boards.find(({ id }) => id === board_id)?.ids.get(parameter)?.[0] ?? ''
    /** Other connections use the board too, so a resource may be deleted again. Then nothing is added to it. */
    const build = async (id: string, on: Record<string, string>, fields: Record<string, string>) => {
      const isThere = !Object.values({ ...on, ...fields }).includes('')
      if (isThere) await call(connection, id, owner, { board_id, ...on }, fields)
    }
    await build('createLabel', {}, { name: 'Label' })
    for (const title of ['One', 'Two']) {
      await build('createChecklist', { card_id: idOf('card_id') }, { title })
      await build('createComment', { card_id: idOf('card_id') }, { body: title })
      await build('createItem', { checklist_id: idOf('checklist_id') }, { content: title })
    }
    const trigger = { trigger_type: 'LABEL_ADDED', trigger_label_id: idOf('label_id') }
    const action = { action_type: 'MOVE_TO_COLUMN', action_column_id: idOf('column_id') }
    await build('createRule', {}, { name: 'Rule', ...trigger, ...action })
  }

  /** Deletes a full board, so that data does not grow during the run. */
  const tidy = async (connection: Connection, board_id: string) => {
    known.forget(board_id)
    for (const who of known.users) {
      const { outcome } = await call(connection, 'deleteBoard', who, { board_id })
      if (outcome === '204' || outcome.startsWith('404')) return
    }
  }

  const first = new Connection(baseUrl)
  for (let i = 0; i < PEOPLE; i++) known.users.push(await newAccount(baseUrl))
  for (let i = 0; i < 4; i++) await createBoard(first, seed + i)
  first.close()

  let next = 0
  const worker = async () => {
    const connection = new Connection(baseUrl)
    while (next < requests) {
      const nth = next++
      const random = seeded(Math.imul(seed, 0x9e3779b1) ^ nth)
      const { fullBoard } = known
      if (fullBoard) {
        await tidy(connection, fullBoard.id)
        if (known.boards.length < 5) await createBoard(connection, nth)
      }
      let operation = random.pick(operations)
      while (random.below(oneIn(operation.id)) > 0) operation = random.pick(operations)
      // A new user, so that no other one is logged out.
      const who = operation.id === 'logoutEverywhere' ? await newAccount(baseUrl) : undefined
      await ask(connection, nth, makeRequest(operation, known, random, { isValidOnly, who }))
      if (nth % 5_000 === 0) progress(nth, found.violations.length)
      if (nth % 64 === 0) await nextTurn()
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  found.seconds = (performance.now() - startedAt) / 1_000
  return found
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
const bodyText = (outcome: Awaited<ReturnType<Connection['ask']>>) =>
  typeof outcome === 'string' ? outcome : `→ ${outcome.status} ${outcome.bytes.toString().slice(0, 300)}`
