import { type ClipboardEvent, type DragEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { insertAt } from './area-edits.ts'
import { kindOf } from './file-kinds.ts'
import { imageMarkdown } from './format-text.ts'
import { movedPlace, type Place } from './moved-place.ts'
import { attach, attachImages } from './uploads.ts'
import { takenFiles } from './use-dropped-files.ts'

export interface PastedImages {
  /** Until then the text is not complete. */
  isUploading: boolean
  onPaste: (event: ClipboardEvent) => void
  onDrop: (event: DragEvent) => void
}

/**
 * Attaches images that are pasted into a field or dropped on it, and inserts their Markdown where the cursor was, when they are
 * uploaded. Until then the text can be changed, and nothing is in it that a failed upload would leave behind.
 */
export function usePastedImages(
  card_id: string,
  area: RefObject<HTMLTextAreaElement | null>,
  text: string,
): PastedImages {
  const tools = useTools()
  const places = useRef(new Set<Place>())
  const before = useRef(text)
  const [running, setRunning] = useState(0)
  useLayoutEffect(() => {
    for (const place of places.current)
      Object.assign(place, { at: movedPlace(place, before.current, text), isAfter: false })
    before.current = text
  }, [text])

  const upload = async (images: File[]) => {
    const place = { at: area.current?.selectionEnd ?? 0, isAfter: false }
    places.current.add(place)
    setRunning((count) => count + 1)
    const stored = await attachImages(card_id, images, tools.isOffline.get())
    places.current.delete(place)
    setRunning((count) => count - 1)
    // The editor may have been closed. Then the image is only attached.
    if (!area.current || stored.length === 0) return
    for (const other of places.current) other.isAfter = other.at === place.at
    const isInWord = /\S$/.test(area.current.value.slice(0, place.at))
    insertAt(area.current, place.at, (isInWord ? ' ' : '') + stored.map(imageMarkdown).join('\n'))
  }
  const take = (event: ClipboardEvent | DragEvent, all: readonly File[]) => {
    const images = all.filter(({ type, size }) => kindOf({ mime_type: type, size }) === 'image')
    if (images.length === 0) return
    event.preventDefault()
    takenFiles.add(event.nativeEvent)
    const others = all.filter((file) => !images.includes(file))
    if (others.length > 0) void attach(card_id, others, tools.isOffline.get())
    void upload(images)
  }
  return {
    isUploading: running > 0,
    onPaste: (event) => {
      // Some programs copy an image along with the text.
      if (!event.clipboardData.getData('text/plain')) take(event, [...event.clipboardData.files])
    },
    onDrop: (event) => take(event, [...event.dataTransfer.files]),
  }
}
