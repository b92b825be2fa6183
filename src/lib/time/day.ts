/** Days in UTC as texts, such as 2026-01-31. */

export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
