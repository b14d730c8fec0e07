const UNRELEASED = '## Unreleased\n'

/** The changelog with the unreleased changes below the heading of a version, and an empty section for the next ones. */
export function newChangelog(text: string, version: string, date: string): string {
  const start = text.indexOf(UNRELEASED)
  if (start < 0) throw new Error('CHANGELOG.md has no section “Unreleased”.')
  const rest = text.slice(start + UNRELEASED.length)
  const changes = rest.slice(0, rest.search(/^## /m) < 0 ? undefined : rest.search(/^## /m))
  if (changes.trim() === '') throw new Error('CHANGELOG.md has no unreleased changes.')
  return `${text.slice(0, start)}${UNRELEASED}\n## ${version} (${date})\n${rest}`
}
