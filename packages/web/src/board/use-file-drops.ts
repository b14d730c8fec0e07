import { useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import { openLayers } from '../ui/layers.ts'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** The card at the pointer, unless something is open over the board. */
const cardAt = ({ target }: DragEvent) =>
  openLayers().length === 0 && target instanceof Element
    ? target.closest<HTMLElement>('[data-card-id]')?.dataset['cardId']
    : undefined
const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

/** Attaches files that are dropped on a card. A drop elsewhere must not make the browser open the file. */
export function useFileDrops(tools: BoardTools) {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const leave = () => tools.filesOver.set(undefined)
    const dragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      tools.filesOver.set(tools.isReadOnly ? undefined : cardAt(event))
    }
    addEventListener('dragover', dragOver, { signal })
    addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && leave(), { signal })
    const drop = (event: DragEvent) => {
      leave()
      void dropFiles(tools, event)
    }
    addEventListener('drop', drop, { signal })
    return () => controller.abort()
  }, [tools])
}

async function dropFiles(tools: BoardTools, event: DragEvent) {
  if (!hasFiles(event)) return
  event.preventDefault()
  // An open card dialog handles its own drops.
  if (openLayers().length > 0 || !tools.canChange()) return
  const card_id = cardAt(event)
  const files = [...(event.dataTransfer?.files ?? [])]
  if (!card_id) return showToast(t.dropOnCard)
  try {
    const { attachOnBoard } = await import('../card/uploads.ts')
    await attachOnBoard(tools, card_id, files)
  } catch {
    showToast(t.attachOnline)
  }
}
