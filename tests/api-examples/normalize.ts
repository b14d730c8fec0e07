const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** The time of every example. */
const NOW = Date.parse('2026-07-13T09:00:00.000Z')
const HOUR_MS = 3_600_000
const MAX_ITEMS = 3

const DAY_MS = 86_400_000
const dayOf = (time: number) => Math.floor(time / DAY_MS)
/** A day of the statistics, counted from today. */
const shiftDay = (day: unknown) => {
  const shifted = dayOf(NOW) + dayOf(Date.parse(String(day))) - dayOf(Date.now())
  return new Date(shifted * DAY_MS).toISOString().slice(0, 10)
}

/** Fields with secrets, and with numbers that depend on the machine. */
const fixed: Record<string, (value: unknown) => unknown> = {
  access_token: () => 'eyJ…',
  ticket: () => 'eyJ…',
  token: (value) => (String(value).startsWith('lsp_') ? 'lsp_…' : String(value).startsWith('lsb_') ? 'lsb_…' : '…'),
  invitation: () => '…',
  link: (value) => String(value).replace(/#.*/, '#…'),
  url: () => 'https://hooks.example.com/lockstep',
  secret: () => 'whsec_…',
  duration_ms: () => 12,
  hint: () => 'wxyz',
  password: () => 'correct horse battery staple',
  current_password: () => 'correct horse battery staple',
  new_password: () => 'a longer passphrase than before',
  database_bytes: () => 9_500_000,
  log_bytes_per_minute: (value) => ({ ...(value as object), used: 12_000 }),
  date: shiftDay,
  file: () => 'Measure twice, cut once.',
}

/**
 * Replaces what differs between two runs. Ids are numbered in the order of their first use, times are counted from one moment in
 * whole hours, and long lists are shortened.
 */
export function normalizer(): (value: unknown) => unknown {
  const started = Date.now()
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const number = ids.get(id) ?? `01a0c5f2-7d00-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, number)
    return number
  }
  const timeOf = (text: string) =>
    new Date(NOW + Math.round((Date.parse(text) - started) / HOUR_MS) * HOUR_MS).toISOString()
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return TIME.test(value) ? timeOf(value) : value.replaceAll(UUID, idOf)
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const fix = inner === null ? undefined : fixed[key]
        return [key, fix ? fix(inner) : walk(inner)]
      }),
    )
  }
  return walk
}
