import { Component, type ErrorInfo, type ReactNode } from 'react'

interface BoundaryProps {
  /** What is shown instead when something inside cannot be drawn. */
  fallback: ReactNode
  children: ReactNode
}

/** Keeps a part that cannot be drawn from taking the whole page with it. */
export class Boundary extends Component<BoundaryProps, { has_failed: boolean }> {
  override state = { has_failed: false }

  static getDerivedStateFromError() {
    return { has_failed: true }
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo) {
    console.error('A part of the page could not be drawn.', error, componentStack)
  }

  override render() {
    return this.state.has_failed ? this.props.fallback : this.props.children
  }
}
