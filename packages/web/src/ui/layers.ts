import { Store, useStorePart } from './store.ts'

/** The open modal dialogs, topmost last. Everything outside the topmost one is inert. */
export const layers = new Store<readonly HTMLElement[]>([])

/** Where toasts and announcements are rendered: in the topmost dialog, or in the body. */
export const useTopLayer = (): HTMLElement => useStorePart(layers, (open) => open.at(-1) ?? document.body)
