import { Component, type ErrorInfo, type ReactNode } from 'react'

interface BoundaryProps {
  /** Shown when rendering the children fails. */
  fallback: ReactNode
  children: ReactNode
}

/** Error boundary: a component that fails to render does not take the page down. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo) {
    console.error('A component failed to render.', error, componentStack)
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children
  }
}
