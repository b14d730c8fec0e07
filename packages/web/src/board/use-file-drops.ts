import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { showToast } from '../ui/toasts.tsx'

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

/** Attaches files that are dropped on a card. A drop elsewhere must not make the browser open the file. */
export function useFileDrops(tools: BoardTools) {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault(), { signal })
    addEventListener('drop', (event) => void dropFiles(tools, event), { signal })
    return () => controller.abort()
  }, [tools])
}

async function dropFiles(tools: BoardTools, event: DragEvent) {
  // An open card dialog handles its own drops.
  if (!hasFiles(event) || document.querySelector('dialog[open]')) return
  event.preventDefault()
  const card = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-card-id]') : null
  const card_id = card?.dataset['cardId']
  const files = [...(event.dataTransfer?.files ?? [])]
  if (!card_id) return showToast('Drop files on a card to attach them.')
  try {
    const { attach } = await import('../card/uploads.ts')
    attach(card_id, files, !navigator.onLine)
    tools.openCard(card_id)
  } catch {
    showToast('You’re offline. Attach files when you’re back online.')
  }
}
