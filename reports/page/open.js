(function(){function open(){var e=document.getElementById(decodeURIComponent(location.hash.slice(1)));
if(e&&e.tagName==="DETAILS"){var bad=document.getElementById("bad");if(bad&&e.classList.contains("ok"))bad.checked=false;
for(var p=e;p;p=p.parentElement)if(p.tagName==="DETAILS")p.open=true;e.scrollIntoView()}}
addEventListener("hashchange",open);open()})();
