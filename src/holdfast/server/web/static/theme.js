// Applied before the page is drawn, so that it does not flash in the other theme.
const theme = localStorage.getItem("holdfast-theme");
if (theme) document.documentElement.dataset.theme = theme;
