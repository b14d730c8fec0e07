import type { Card } from '@lockstep/client'

/** Title, description and checklists as Markdown, to copy them. */
export function cardText({ title, checklists }: Card, description: string): string {
  const steps = checklists.flatMap((checklist) => [
    `\n${checklist.title}`,
    ...checklist.items.map(({ content, is_done }) => `- [${is_done ? 'x' : ' '}] ${content}`),
  ])
  return [title, description, ...steps].filter(Boolean).join('\n')
}
