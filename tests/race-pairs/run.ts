import { randomUUID } from 'node:crypto'
import type { Account } from '@lockstep/testing/accounts'
import type pg from 'pg'
import { Connection } from '../fuzz/connection.ts'
import { type DocumentedOperation, operationsOf, readOpenApi } from '../fuzz/document.ts'
import { dispatchOf } from '../fuzz/framing.ts'
import { judge, type Verdict } from '../fuzz/judge.ts'
import { plainRequest } from '../fuzz/requests.ts'
import { checkBoard, checkDeleted, readLog, type Standing } from './check.ts'
import { judgeAnswers } from './check-responses.ts'
import { RaceBoard, type RaceUsers, type Write } from './race-board.ts'
import { goneBy, isSharedId, type Pair, writeOf } from './writes.ts'

export interface RaceEnvironment {
  /** Two instances of one service. */
  urls: readonly [string, string]
  sql: pg.Pool
  users: RaceUsers
}
export interface RaceSize {
  rounds: number
  /** Boards on which pairs race at the same time. */
  at_once: number
}
export interface Raced {
  pairs: number
  rounds: number
  requests: number
  seconds: number
  both_succeeded: number
  /** Of all rounds, those in which both writes came to the same instance. */
  at_one_instance: number
  /** What the second of two was told, and how often. */
  refusals: Map<string, number>
  violations: string[]
}

/** A board is left after so many rounds: it must not fill up. */
const ROUNDS_ON_A_BOARD = 45
const changesMembers = (name: string) => name.endsWith('Member')
/** A connection to each instance, and one more to the first: two writes also meet within one process. */
type Line = 0 | 1 | 2

/** Lets every pair of writes race on one board, at two instances and at one, and checks the board afterwards. */
export async function race(
  environment: RaceEnvironment,
  pairs: readonly Pair[],
  { rounds, at_once }: RaceSize,
  progress: (pairs: number, violations: number) => void = () => {},
): Promise<Raced> {
  const found: Raced = {
    pairs: 0,
    rounds: 0,
    requests: 0,
    seconds: 0,
    both_succeeded: 0,
    at_one_instance: 0,
    refusals: new Map(),
    violations: [],
  }
  const begun = performance.now()
  const queue = pairs.values()
  const lane = async () => {
    using course = new Course(environment, found)
    for (const pair of queue) {
      await course.run(pair, rounds)
      if (++found.pairs % 25 === 0) progress(found.pairs, found.violations.length)
    }
  }
  await Promise.all(Array.from({ length: at_once }, lane))
  found.seconds = (performance.now() - begun) / 1_000
  return found
}

const operations = new Map<string, DocumentedOperation>(operationsOf(readOpenApi()).map((each) => [each.id, each]))

interface Told extends Verdict {
  position: number
}

const reversed = async <T>(second: Promise<T>, first: Promise<T>) => Promise.all([first, second] as const)

/** One lane: a board at a time. */
class Course {
  private readonly environment: RaceEnvironment
  private readonly found: Raced
  private readonly lines: readonly [Connection, Connection, Connection]
  private readonly board: RaceBoard
  private standing: Standing | undefined
  private rounds_here = 0
  /** The furthest position that an answer about this board has named. */
  private told_position = 0
  /** Goes on from pair to pair: what is varied by it is varied over all of them, also when each has few rounds. */
  private turn = 0
  private readonly deleted: string[] = []
  private where = ''

  constructor(environment: RaceEnvironment, found: Raced) {
    this.environment = environment
    this.found = found
    this.lines = [
      new Connection(environment.urls[0]),
      new Connection(environment.urls[1]),
      new Connection(environment.urls[0]),
    ]
    this.board = new RaceBoard(environment.users, async (who, name, write) => {
      const { json, met, position } = await this.send(0, who, name, write)
      if (!/^2/.test(met)) throw new Error(`${this.where}: ${name} could not be prepared: ${met}`)
      this.told_position = name === 'createBoard' ? position : Math.max(this.told_position, position)
      return { id: String(json?.['id']) }
    })
  }

  async run([one, two]: Pair, rounds: number) {
    this.where = `${one} × ${two}`
    try {
      for (let left = rounds; left > 0; left--) await this.round([one, two], this.turn++)
      await this.check()
    } catch (error) {
      this.found.violations.push(`${this.where}: ${(error as Error).message}`)
      this.board.forget('board')
    }
  }

  private async round(pair: Pair, round: number) {
    if (this.board.isThere && this.rounds_here >= ROUNDS_ON_A_BOARD) {
      await this.check()
      this.board.forget('board')
    }
    if (!this.board.isThere) {
      await this.board.found()
      this.rounds_here = 0
      this.standing = await this.read()
    }
    const shared_id = randomUUID()
    const [racer, rival] = this.board.users.racers
    // The same request twice, by one person under one key: the second is answered as the first.
    const isRepeated = pair[0] === pair[1] && round % 4 === 3
    const first = await writeOf(pair[0], { board: this.board, side: 0, round, shared_id })
    const second = isRepeated ? first : await writeOf(pair[1], { board: this.board, side: 1, round, shared_id })
    const key = isRepeated ? shared_id : undefined
    const line = round % 3 === 2 ? 2 : 1
    if (line === 2) this.found.at_one_instance++
    const start = () => this.send(0, racer, pair[0], first, key)
    const answer = () => this.send(line, isRepeated ? racer : rival, pair[1], second, key)
    // Who is sent first takes turns.
    const told = await (round % 2 === 0 ? Promise.all([start(), answer()]) : reversed(answer(), start()))
    this.rounds_here++
    this.found.rounds++
    const refused = told.filter(({ met }) => !/^2/.test(met))
    for (const { met } of refused) this.found.refusals.set(met, (this.found.refusals.get(met) ?? 0) + 1)
    if (refused.length === 0) this.found.both_succeeded++
    const meeting = { pair, isRepeated, isSharedId: isSharedId(round), position: this.told_position }
    for (const complaint of judgeAnswers(meeting, told)) this.complain(complaint)
    for (const { position } of told) if (position > this.told_position) this.told_position = position
    await this.restore(pair, told)
  }

  /** What was deleted is forgotten, and made anew when somebody needs it; members go back to their places. */
  private async restore(pair: Pair, told: readonly Told[]) {
    const isDeleted = pair.some((name, i) => name === 'deleteBoard' && told[i]?.met === '204')
    if (isDeleted) this.deleted.push(this.board.id)
    for (const name of pair) {
      const gone = goneBy(name)
      if (gone && gone !== 'board') this.board.forget(gone)
    }
    if (isDeleted) this.board.forget('board')
    else if (pair.some(changesMembers)) await this.board.seat(await this.readMembers())
  }

  private async check() {
    if (this.deleted.length > 0)
      for (const complaint of await checkDeleted(this.environment.sql, this.deleted.splice(0))) this.complain(complaint)
    if (!this.board.isThere || !this.standing) return
    const after = await this.read()
    const log = await readLog(this.environment.sql, this.board.id, this.standing.seq)
    for (const complaint of checkBoard(this.standing, log, after)) this.complain(complaint)
    if (after.seq < this.told_position)
      this.complain(`an answer named the position ${this.told_position}, and the board stands at ${after.seq}`)
    this.standing = after
  }

  private complain(sentence: string) {
    this.found.violations.push(`${this.where}, board ${this.board.isThere ? this.board.id : 'gone'}: ${sentence}`)
  }

  private async read(): Promise<Standing> {
    const { met, json, position } = await this.send(1, this.board.users.racers[0], 'getBoard', {
      params: { board_id: this.board.id },
    })
    if (met !== '200') throw new Error(`the board could not be read: ${met}`)
    return { seq: position, board: json as unknown as Standing['board'] }
  }

  private async readMembers() {
    for (const who of this.board.users.racers) {
      const { met, json } = await this.send(0, who, 'listMembers', { params: { board_id: this.board.id } })
      if (met === '200') return json as unknown as { user_id: string; role: string }[]
    }
    throw new Error('neither racer is a member any more')
  }

  private async send(line: Line, who: Account, name: string, { params, body }: Write, key?: string): Promise<Told> {
    const operation = operations.get(name)
    if (!operation) throw new Error(`The document has no ${name}`)
    const request = plainRequest(operation, who, params, body)
    if (key) request.headers.push(['Idempotency-Key', key])
    const outcome = await this.lines[line].ask(dispatchOf(request))
    this.found.requests++
    const verdict = judge(request, outcome)
    for (const complaint of verdict.complaints) this.complain(`${name}: ${complaint}`)
    const position = typeof outcome === 'object' ? Number(outcome.headers.get('board-position')?.split('.')[1]) : -1
    return { ...verdict, position }
  }

  [Symbol.dispose]() {
    for (const line of this.lines) line.close()
  }
}
