import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** What is handed out with the client, and the name that it has there. */
const published = new Map([
  ['packages/client/README.md', 'README.md'],
  ['docs/guide.md', 'guide.md'],
  ['docs/errors.md', 'errors.md'],
])

/** The documents of the published client, by name: those who have the package do not have the repository. */
export function publishedDocs(root = './'): Map<string, string> {
  return new Map([...published].map(([file, name]) => [name, standingAlone(file, readFileSync(root + file, 'utf8'))]))
}

/** Leads links to what is handed out too; of other links into the repository only the words stay. */
export function standingAlone(file: string, text: string): string {
  const withoutWorkshop = text.replace(/\n## Working on it\n[\s\S]*?(?=\n## |$)/, '')
  return withoutWorkshop.replaceAll(/\[([^\]]+)\]\((?!\w+:|#)([^)#]+)(#[^)]*)?\)/g, (_, words, path, anchor = '') => {
    const name = published.get(posix.join(posix.dirname(file), path))
    return name ? `[${words}](${name}${anchor})` : words
  })
}
