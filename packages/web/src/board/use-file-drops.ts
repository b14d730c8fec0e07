import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { openLayers } from '../ui/layers.ts'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

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
  if (!hasFiles(event)) return
  event.preventDefault()
  // An open card dialog handles its own drops.
  if (openLayers().length > 0) return
  const card = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-card-id]') : null
  const card_id = card?.dataset['cardId']
  if (!tools.canChange()) return
  const files = [...(event.dataTransfer?.files ?? [])]
  if (!card_id) return showToast(t.dropOnCard)
  try {
    const { attachOnBoard } = await import('../card/uploads.ts')
    await attachOnBoard(tools, card_id, files)
  } catch {
    showToast(t.attachOnline)
  }
}
