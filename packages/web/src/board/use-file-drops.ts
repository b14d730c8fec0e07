import { useEffect } from 'react'
import { showToast } from '../ui/toasts.tsx'
import type { BoardTools } from './board-tools.ts'

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

/** Files that are dropped on a card are attached to it. Beside one they must not make the browser leave the page. */
export function useFileDrops(tools: BoardTools) {
  useEffect(() => {
    const life = new AbortController()
    const { signal } = life
    addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault(), { signal })
    addEventListener('drop', (event) => void dropFiles(tools, event), { signal })
    return () => life.abort()
  }, [tools])
}

async function dropFiles(tools: BoardTools, event: DragEvent) {
  // An open card takes them itself.
  if (!hasFiles(event) || document.querySelector('dialog[open]')) return
  event.preventDefault()
  const card = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-card-id]') : null
  const card_id = card?.dataset['cardId']
  const files = [...(event.dataTransfer?.files ?? [])]
  if (!card_id) return showToast('Drop files on the card that they belong to.')
  try {
    const { attach } = await import('../card/uploads.ts')
    attach(card_id, files, !navigator.onLine)
    tools.openCard(card_id)
  } catch {
    showToast('Without a network no files can be attached.')
  }
}
