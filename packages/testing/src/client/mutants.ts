import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LiveBoard } from '../../../client/src/live/live-board.ts'
import type { CoreClass } from './sync-simulation.ts'

type Mutation = [rule: string, without: string]

const source = new URL('../../../client/src/live/', import.meta.url)
const folder = new URL('../../../../.test-output/', import.meta.url)
const home = (of: string) => new URL(`sync-mutants-${of}/`, folder)

/** The live board's own text with some of its rules switched off in one file, and another file of it loaded. */
async function load(of: string, name: string, file: string, changes: Mutation[], entry: string): Promise<unknown> {
  const place = new URL(`${name.replaceAll(' ', '-')}/`, home(of))
  mkdirSync(place, { recursive: true })
  for (const each of readdirSync(source).filter((other) => !other.endsWith('.test.ts')))
    copyFileSync(new URL(each, source), new URL(each, place))
  const mutated = new URL(file, place)
  const text = changes.reduce(
    (before, [rule, without]) => {
      if (!before.includes(rule)) throw new Error(`${file} no longer has: ${rule}`)
      return before.replace(rule, without)
    },
    readFileSync(mutated, 'utf8'),
  )
  writeFileSync(mutated, text)
  return import(fileURLToPath(new URL(entry, place)))
}

export async function mutant(name: string, changes: Mutation[]): Promise<CoreClass> {
  const { BoardCore } = (await load('core', name, 'core.ts', changes, 'core.ts')) as { BoardCore: CoreClass }
  return BoardCore
}
export async function mutantBoard(
  name: string,
  file: string,
  rule: string,
  without: string,
  of: 'driver' | 'guard' = 'driver',
): Promise<typeof LiveBoard> {
  const loaded = await load(of, name, file, [[rule, without]], 'live-board.ts')
  return (loaded as { LiveBoard: typeof LiveBoard }).LiveBoard
}
export const removeMutants = (of: 'core' | 'driver' | 'guard') => rmSync(home(of), { recursive: true, force: true })

/** Rules of the driver that are switched off one by one. */
export const driverMutations: Record<string, [file: string, rule: string, without: string]> = {
  'a silent line is not noticed': [
    'line.ts',
    'if (this.socket && this.isGreeted && (',
    'if (this.isGreeted && !this.socket && (',
  ],
  'what is missing is not asked for': ['line.ts', "if (this.core.missing !== 'nothing') void this.fill()", ''],
  'nobody comes back': ['line.ts', '() => void this.connect())', '() => {})'],
  'what failed is not sent again': [
    'sender.ts',
    '(failure?.retry_after_seconds ?? 0) * 1_000), () => this.goOn())',
    '0), () => {})',
  ],
  'what is sent again has a new key': [
    'sender.ts',
    'this.line.request(change.name, input, { idempotency_key })',
    'this.line.request(change.name, input, { idempotency_key: idempotency_key + attempts })',
  ],
  'what others wrote is not looked at': ['guard.ts', 'if (current) return { current }', ''],
  'what is guarded is changed unconditionally': ['guard.ts', 'change.input, if_match)', "change.input, '*')"],
  'whether it happened already is not asked': ['guard.ts', 'mayHaveHappened ? NOTHING : undefined', 'undefined'],
  'an older answer takes the place of the stored board': [
    'line.ts',
    '(answered && !isBefore(answered, at))',
    'answered',
  ],
  'the stored board is not shown without a network': [
    'line.ts',
    'if (status === 0 || status === 429 || status >= 500) await this.restore(stored)',
    '',
  ],
  'timers survive': ['line.ts', 'for (const cancel of this.timers.values()) cancel()', ''],
  'events of a second line are taken for the first epoch': [
    'line.ts',
    '    this.epoch = epoch\n',
    '    this.epoch ||= epoch\n',
  ],
}

/** Rules of the core that are switched off one by one: each must be missed. */
export const mutations: Record<string, [rule: string, without: string][]> = {
  'events of the own user are skipped': [
    [
      'this.base = applyEvent(before, event)',
      'this.base = event.user_id === this.user_id ? before : applyEvent(before, event)',
    ],
  ],
  'a gap is not noticed': [
    ['    this.early.set(event.seq, event)\n    if (this.base) this.drain()', '    if (this.base) this.apply(event)'],
  ],
  'a change is dropped with its answer': [['!position || isBefore(this.at, position)', '!position']],
  'a place is an index alone': [['before ? anchored(before, change) : change', 'change']],
  'the own event is not recognised': [['operation.is_seen = (', 'operation.is_seen = false && (']],
  'every event of the user is taken for an own one': [['attempts > 0 && isDoneBy(change, event)', 'true']],
  'no event is taken for an own one': [
    ['attempts > 0 && isDoneBy(change, event)', 'attempts > 9 && isDoneBy(change, event)'],
  ],
  'what was rejected stays': [['this.pending = this.pending.filter((other) => other !== operation)', '']],
  'an older board takes the place of a newer one': [['if (this.base && isBefore(position, this.at)) return', '']],
  'a change is judged by a board that is older than it': [['!is_shared && !isBefore(this.at, base)', '!is_shared']],
  'a change does not wait for what those before it made': [['other.base = later(other.base, position)', '']],
  'what a change was made on is not kept': [
    ['later(known, position), this.at)', 'later(known, position), { epoch: 0, seq: 0 })'],
  ],
  'epochs are not told apart': [['this.head.epoch !== this.at.epoch || ', '']],
  'a second change is sent before the first is answered': [
    ["first?.state === 'queued' ? first : undefined", "this.pending.find(({ state }) => state === 'queued')"],
  ],
  'the text of a rejected change is lost': [['text: textOf(change)', "text: ''"]],
  'equal parts are made anew': [
    ['    this.shown = share(this.shown, board)', '    this.shown = JSON.parse(JSON.stringify(board)) as FullBoard'],
  ],
}
/** Rules of the others that the core rests on. */
export const weaknesses = {
  'the server says nothing of neighbours that made room': { announcesRoom: false },
  'pings carry no number': { pingsHaveSeq: false },
  'moves are sent without their anchor': { sendsAnchors: false },
  'what is sent again has a new key': { keepsKeys: false },
}
