#include "fovea/base/html.h"
#include "fovea/inspect/attention_view.h"

namespace fovea {
namespace {

// The page draws with plain DOM calls and textContent; the data is a JSON block that nothing can
// break out of ("<" is escaped), and the page's own policy lets it load nothing.
constexpr const char* page_style = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fovea: attention</title><meta name="generator" content="fovea inspect">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
:root{--ink:#1b1f24;--soft:#5d646d;--paper:#fbfaf7;--card:#fff;--line:#e4e0d7;--hot:20,82,150;--mark:#c2410c;color-scheme:light}
:root.dark{--ink:#e8e6e1;--soft:#9aa1aa;--paper:#15171a;--card:#1d2024;--line:#2e3237;--hot:126,190,255;--mark:#fb923c;color-scheme:dark}
*{box-sizing:border-box}[hidden]{display:none!important}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:84rem;padding:1.5rem 1.25rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 2rem;align-items:baseline;justify-content:space-between}
h1{font-size:1.25rem;margin:0}h2{font-size:1rem;margin:0}
.example{margin:.4rem 0 0;font-size:1.05rem}.example b{font-weight:600}.example span{color:var(--soft)}
.controls{display:flex;gap:.6rem 1.6rem;flex-wrap:wrap;align-items:center;margin:1rem 0}
.pick{display:flex;gap:.25rem;align-items:center;flex-wrap:wrap}.pick span{color:var(--soft);margin-right:.25rem}
button{font:inherit;font-size:.9rem;line-height:1;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.4rem .6rem;cursor:pointer}
button[aria-pressed=true]{background:rgb(var(--hot));border-color:rgb(var(--hot));color:var(--paper)}
button:focus-visible{outline:2px solid var(--mark);outline-offset:1px}
.scale{display:flex;gap:.4rem;align-items:center;color:var(--soft);font-size:.85rem}
.scale i{width:7rem;height:.8rem;border:1px solid var(--line);background:linear-gradient(90deg,rgba(var(--hot),0),rgba(var(--hot),.5) 25%,rgba(var(--hot),.71) 50%,rgb(var(--hot)))}
.maps{display:flex;gap:1.25rem;flex-wrap:wrap;align-items:flex-start}.column{display:flex;flex-direction:column;gap:1.25rem;max-width:100%}
.map{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem .9rem;max-width:100%}
.map p{margin:.1rem 0 .5rem;color:var(--soft);font-size:.85rem}.grid{overflow:auto}
.value{min-height:1.5em;margin:.5rem 0 0!important;font-variant-numeric:tabular-nums}.value b{color:var(--ink)}
table{border-collapse:collapse}
th{font:500 .8rem/1 ui-monospace,Menlo,Consolas,monospace;white-space:pre;color:var(--soft)}
thead th{vertical-align:bottom;padding:0 0 .3rem}thead th.long span{writing-mode:vertical-rl;transform:rotate(180deg)}
tbody th{text-align:right;padding:0 .45rem 0 0}
th.on{color:var(--mark);font-weight:700}
td{width:1.25rem;min-width:1.25rem;height:1.25rem;border:1px solid var(--line);padding:0}
td:hover{outline:2px solid var(--mark);outline-offset:-1px}
td.hidden{background:repeating-linear-gradient(135deg,transparent 0 3px,var(--line) 3px 4px)}
footer{color:var(--soft);font-size:.85rem;margin-top:1rem;max-width:60rem}
</style></head><body>
<header><h1>What one example looks at</h1><button id="theme" type="button">dark</button></header>
<p class="example"><span>input</span> <b id="input"></b> &nbsp; <span id="what">output</span> <b id="output"></b></p>
<div class="controls"><div class="pick" id="layers" role="group" aria-label="layer"><span>layer</span></div>
<div class="pick" id="heads" role="group" aria-label="head"><span>head</span></div>
<div class="scale"><span>0</span><i></i><span>1</span></div></div>
<div class="maps" id="maps"></div>
<footer>A row looks, the columns are looked at, and each row sums to 1. Hatched: positions the mask hides.
<span id="shifted" hidden>The output is read shifted by one: row “&lt;start&gt;” chooses its first token.</span>
Attention shows where a model reads, not why it answers.</footer>
<script type="application/json" id="data">)";

constexpr const char* page_script = R"(</script>
<script>
const $=id=>document.getElementById(id),data=JSON.parse($('data').textContent);
const make=(tag,text,name)=>{const e=document.createElement(tag);if(text!=null)e.textContent=text;if(name)e.className=name;return e;};
$('input').textContent=data.input;$('output').textContent=data.target??data.output;
if('target' in data)$('what').textContent='target';
$('shifted').hidden=!Object.values(data.sides).some(t=>t[0]==='<start>');
const parts=[...new Set(data.maps.map(m=>m.part))];
const layers=[...new Set(data.maps.map(m=>m.layer).filter(l=>l!==null))].sort((a,b)=>a-b);
const heads=data.maps.reduce((most,m)=>m.heads.length>most.length?m.heads:most,[]);
let layer=layers.at(-1),head=heads.length>1?-1:0;
function buttons(where,names,values,set){
  if(values.length<2)$(where).hidden=true;
  values.forEach((v,i)=>{const b=make('button',names[i]);b.type='button';b.dataset.value=v;
    b.onclick=()=>{set(v);draw();};$(where).append(b);});
}
buttons('layers',layers,layers,v=>layer=v);
buttons('heads',heads.length>1?['mean',...heads]:[],heads.length>1?[-1,...heads.keys()]:[],v=>head=v);
function press(where,value){for(const b of $(where).querySelectorAll('button'))b.setAttribute('aria-pressed',String(b.dataset.value==value));}
function weights(m){
  if(head>=0)return m.weights[Math.min(head,m.weights.length-1)];
  return m.weights[0].map((row,q)=>row.map((_,k)=>m.weights.every(w=>w[q][k]===null)?null:
    m.weights.reduce((s,w)=>s+w[q][k],0)/m.weights.length));
}
function picture(m){
  const box=make('section',null,'map'),grid=make('div',null,'grid'),table=make('table');
  const queries=data.sides[m.queries],keys=data.sides[m.keys];
  box.append(make('h2',m.title),make('p',`${m.queries} looks at ${m.keys}`));box.title=m.name;
  const head=make('tr'),tops=[],sides=[];
  head.append(make('th'));
  for(const k of keys){const th=make('th',null,[...k].length>2?'long':'');th.scope='col';th.append(make('span',k));tops.push(th);head.append(th);}
  const thead=make('thead');thead.append(head);
  const body=make('tbody'),value=make('p','point at a cell to read its weight','value');
  const light=(q,k,on)=>{sides[q].classList.toggle('on',on);tops[k].classList.toggle('on',on);};
  weights(m).forEach((row,q)=>{
    const tr=make('tr'),side=make('th',queries[q]);side.scope='row';sides.push(side);tr.append(side);
    row.forEach((w,k)=>{const td=make('td');
      if(w===null){td.className='hidden';td.title='hidden by the mask';}
      else{td.style.background=`rgba(var(--hot),${Math.sqrt(w).toFixed(3)})`;
        const say=`${queries[q]} → ${keys[k]}: ${w.toFixed(4)}`;td.title=say;
        td.onmouseenter=()=>{value.replaceChildren(make('b',queries[q]),` (row ${q+1}) looks at `,make('b',keys[k]),` (column ${k+1}): `,make('b',w.toFixed(4)));light(q,k,true);};
        td.onmouseleave=()=>light(q,k,false);}
      tr.append(td);});
    body.append(tr);});
  table.append(thead,body);grid.append(table);box.append(grid,value);return box;
}
function draw(){
  press('layers',layer);press('heads',head);
  const right=make('div',null,'column'),all=[];
  for(const part of parts){
    const mine=data.maps.filter(m=>m.part===part);
    all.push(picture(mine.find(m=>m.layer===layer)??mine.at(-1)));}
  right.append(...all.slice(1));$('maps').replaceChildren(all[0],right);
}
const root=document.documentElement,dark=on=>{root.classList.toggle('dark',on);$('theme').textContent=on?'light':'dark';};
dark(matchMedia('(prefers-color-scheme: dark)').matches||location.hash==='#dark');
$('theme').onclick=()=>dark(!root.classList.contains('dark'));
draw();
</script></body></html>
)";

}  // namespace

std::string html_page(const AttentionView& view) {
    if (view.seen) return picture_page(view);
    // Four digits are what the page shows.
    const std::string json = attention_json(view, {.digits = 4, .hidden_is_null = true});
    return page_style + json_in_page(json) + page_script;
}

bool is_own_page(std::string_view beginning) {
    return beginning.find(R"(<meta name="generator" content="fovea inspect">)") !=
           std::string_view::npos;
}

}  // namespace fovea
