import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

/**
 * The minimum age of dependencies. Most malicious versions were found within days, so a version is adopted a week after its release at
 * the earliest. `npm run check` compares the lock file with the recorded dates, without a network; `node scripts/release-dates.ts` asks
 * the registry for those that are missing.
 */
const MIN_AGE_DAYS = 7
const FILE = 'scripts/release-dates.json'
const DAY_MS = 86_400_000
const CONCURRENCY = 4
/** Versions that were adopted earlier because they fix an advisory, with its number. */
const EXCEPTIONS: Record<string, string> = {}

/** The release date of each `name@version`. */
export type ReleaseDates = Record<string, string>
interface LockFile {
  packages: Record<string, { version?: string; link?: boolean; name?: string }>
}

/** Every package of the registry in a lock file, as `name@version`. */
export function lockedPackages({ packages }: LockFile): string[] {
  const specs = Object.entries(packages).flatMap(([path, { version, link, name }]) => {
    const [, folder] = /.*node_modules\/(.+)/.exec(path) ?? []
    return folder === undefined || link ? [] : [`${name ?? folder}@${version}`]
  })
  return [...new Set(specs)].sort()
}

/** Packages without a recorded date, packages that are too young, and dates of packages that are gone. */
export function checkAges(specs: string[], dates: ReleaseDates, now = Date.now(), exceptions = EXCEPTIONS): string[] {
  return [
    ...specs.flatMap((spec) => {
      const date = dates[spec]
      if (date === undefined) return [`${spec} has no release date: run node scripts/release-dates.ts`]
      const days = (now - Date.parse(date)) / DAY_MS
      return days >= MIN_AGE_DAYS || Object.hasOwn(exceptions, spec)
        ? []
        : [`${spec} was released ${days.toFixed(1)} days ago: wait until it is ${MIN_AGE_DAYS} days old`]
    }),
    ...Object.keys(dates)
      .filter((spec) => !specs.includes(spec))
      .map((spec) => `${FILE} has ${spec}, which is not in the lock file`),
  ]
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
export const checkRepositoryAges = () => checkAges(lockedPackages(read('package-lock.json')), read(FILE))

if (import.meta.main) {
  const known: ReleaseDates = read(FILE)
  const specs = lockedPackages(read('package-lock.json'))
  const waiting = specs.filter((spec) => known[spec] === undefined)
  const work = async () => {
    for (let spec = waiting.shift(); spec; spec = waiting.shift()) known[spec] = await releaseDate(spec)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const dates = Object.fromEntries(specs.map((spec) => [spec, known[spec] ?? '']))
  writeFileSync(FILE, `${JSON.stringify(dates, null, 2)}\n`)
  const problems = checkAges(specs, dates)
  for (const problem of problems) console.error(problem)
  process.exit(problems.length === 0 ? 0 : 1)
}

async function releaseDate(spec: string): Promise<string> {
  const at = spec.lastIndexOf('@')
  const { stdout } = await promisify(execFile)('npm', ['view', spec.slice(0, at), 'time', '--json'], {
    maxBuffer: 2 ** 28,
  })
  const date = (JSON.parse(stdout) as Record<string, string>)[spec.slice(at + 1)]
  if (date === undefined) throw new Error(`The registry has no release date for ${spec}`)
  return new Date(date).toISOString()
}
