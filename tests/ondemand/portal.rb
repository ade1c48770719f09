# A stand-in for the part of Open OnDemand's dashboard that reads an app (apps/dashboard/app/models/batch_connect
# of OSC/ondemand 4): the same renderings, with the same bindings, and nothing of the web. Prints JSON.
#
#   portal.rb form      APP [VARIANT]
#   portal.rb submit    APP VARIANT|- VALUES       VALUES: what the learner typed, as JSON
#   portal.rb stage     APP VARIANT|- VALUES FOLDER
#   portal.rb view      APP CONNECTION             CONNECTION: the file connection.yml
#   portal.rb completed APP FOLDER
require 'erb'
require 'fileutils'
require 'json'
require 'ostruct'
require 'pathname'
require 'yaml'

def deep_merge(old, new)
  old.merge(new) { |_, a, b| a.is_a?(Hash) && b.is_a?(Hash) ? deep_merge(a, b) : b }
end

def read(path, context = binding)
  erb = ERB.new(path.read, trim_mode: '-')
  erb.filename = path.to_s
  YAML.safe_load(erb.result(context)).to_h
end

def form(app, variant)
  found = read(app / 'form.yml.erb')
  variant && variant != '-' ? deep_merge(found, read(app / 'local' / "#{variant}.yml.erb")) : found
end

# What the portal knows of each field: values arrive as strings, and a fixed one cannot be changed.
def context(app, variant, values)
  config = form(app, variant)
  fields = config['form'].to_h do |name|
    options = config['attributes'].fetch(name, {})
    fixed = !options.is_a?(Hash)
    [name, (fixed ? options : values.fetch(name, options['value'])).to_s]
  end
  illegal = OpenStruct.new.methods & fields.keys.map(&:to_sym)
  raise "These cannot be names of form items: #{illegal}" unless illegal.empty?
  OpenStruct.new(fields)
end

Template = Struct.new(:session, :context) do
  def get_binding
    binding
  end
end

command, app, *rest = ARGV
app = Pathname.new(app)
result =
  case command
  when 'form'
    form(app, rest[0])
  when 'submit'
    chosen = context(app, rest[0], JSON.parse(rest[1]))
    account = chosen.bc_account.to_s.strip
    submit = { 'wall_time' => chosen.bc_num_hours.to_i * 3600 }
    submit['accounting_id'] = account unless account.empty?
    deep_merge({ 'script' => submit }, read(app / 'submit.yml.erb', chosen.instance_eval { binding }))
  when 'stage'
    folder = Pathname.new(rest[2])
    FileUtils.cp_r("#{app}/template/.", folder, preserve: true)
    chosen = context(app, rest[0], JSON.parse(rest[1]))
    Pathname.glob(folder.join('**', '*.erb')).each do |file|
      text = ERB.new(file.read, trim_mode: '-').result(Template.new(nil, chosen).get_binding)
      target = file.sub_ext('')
      file.rename(target)
      target.write(text)
    end
    folder.children.map(&:to_s)
  when 'view'
    page = ERB.new((app / 'view.html.erb').read, trim_mode: '-')
    values = YAML.safe_load(File.read(rest[0])).transform_keys(&:to_sym)
    page.result_with_hash(values)
  when 'completed'
    session = OpenStruct.new(staged_root: Pathname.new(rest[0]))
    ERB.new((app / 'completed.html.erb').read, trim_mode: '-').result(session.instance_eval { binding })
  else
    abort "unknown command #{command}"
  end
puts JSON.generate(result)
