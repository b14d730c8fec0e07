import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** Documents that are published with the client package, and their names in it. */
const published = new Map([
  ['packages/client/README.md', 'README.md'],
  ['docs/guide.md', 'guide.md'],
  ['docs/integrations.md', 'integrations.md'],
  ['docs/errors.md', 'errors.md'],
  ['docs/api-stability.md', 'api-stability.md'],
])

/** The documents of the client package by name, without links into the repository. */
export function publishedDocs(root = './'): Map<string, string> {
  return new Map(
    [...published].map(([file, name]) => [name, withPackageLinks(file, readFileSync(root + file, 'utf8'))]),
  )
}

/** Rewrites links between published documents. Other links into the repository become plain text. */
export function withPackageLinks(file: string, text: string, names = published): string {
  const withoutDevelopment = text.replace(/\n## Working on it\n[\s\S]*?(?=\n## |$)/, '')
  return withoutDevelopment.replaceAll(
    /\[([^\]]+)\]\((?!\w+:|#)([^)#]+)(#[^)]*)?\)/g,
    (_, words, path, anchor = '') => {
      const name = names.get(posix.join(posix.dirname(file), path))
      return name ? `[${words}](${name}${anchor})` : words
    },
  )
}
