import { question } from './confirm.ts'
import { lazyComponent } from './lazy-component.tsx'
import { useStore } from './store.ts'

const OpenQuestion = lazyComponent(async () => (await import('./open-question.tsx')).OpenQuestion)

export function Confirmation() {
  const asked = useStore(question)
  return asked && <OpenQuestion {...asked} />
}
