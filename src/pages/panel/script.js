// Enhances the pages of the panel: times in the viewer's zone, and pages that refresh themselves. Every page works
// without it.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = `${time.textContent.trim()} UTC`;
  time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

const refresh = document.querySelector('[data-refresh]');
if (refresh) {
  setInterval(() => {
    if (!document.hidden && !document.querySelector('details[open]')) location.reload();
  }, refresh.dataset.refresh * 1000);
}
