// Tells the page of a shop around this page what happens here. The policy lets only origins of `frame_ancestors` show it in
// a frame. The script of the shop's page names the frame after its origin, and the browser delivers messages to it only.
// Old versions of that script stay in use: a message may get further members, and none is removed.
(() => {
  const [, shop] = /^turnpike:(https?:.+)$/.exec(window.name) ?? [];
  if (parent === window || !shop) return;
  const { body, documentElement: root } = document;
  const { result, back, version = '' } = body.dataset;
  const tell = (type, values) => parent.postMessage({ turnpike: type, ...values }, shop);
  root.toggleAttribute('data-embedded', true);
  tell('hello', { title: document.title });
  // The challenge of a bank is in a dialog, which does not make the page higher.
  const tellHeight = () =>
    tell('height', {
      height: Math.ceil(Math.max(body.getBoundingClientRect().height, document.querySelector('dialog') ? 640 : 0)),
    });
  new ResizeObserver(tellHeight).observe(body);
  if (result) tell(result, { url: back, version });
  addEventListener('declined', ({ detail }) => tell('declined', { version: detail }));

  // Other sites may refuse frames, so the whole window goes there.
  const isElsewhere = (address, target) =>
    /^https?:/.test(address) && new URL(address).origin !== location.origin && /^(_self|_top|_parent)?$/.test(target);
  const onClick = (event) => {
    const link = event.target.closest('a[href]');
    if (!link || !isElsewhere(link.href, link.target)) return;
    event.preventDefault();
    // The shop knows the result, and decides; the payer may still click.
    if (result && !event.isTrusted) return;
    tell('cancel' in link.dataset ? 'cancelled' : 'leave', { url: link.href });
  };
  const onSubmit = (event) => {
    const form = event.target;
    if (!isElsewhere(form.action, form.target)) return;
    event.preventDefault();
    event.stopPropagation();
    // This page submits the form in the whole window.
    tell('leave', { url: location.href });
  };
  document.addEventListener('click', onClick, true);
  document.addEventListener('submit', onSubmit, true);
})();
